"""The real Azurite as the storage of files: uploads, downloads, the worker, readiness and the listing of files.

Azurite comes with `make azurite`; where it is missing these tests fail and say so.
"""

import hashlib
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from azure.storage.blob import BlobServiceClient, ContainerClient
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.test import Client
from pytest_django import Settings

from ingestion.models import DocumentVersion
from ingestion.reconciling import files as stored
from ingestion.stored_files import old_files
from ingestion.tests.making import Uploader, body
from ingestion.tests.simulated import Simulator
from ingestion.worker.loop import Loop

pytestmark = pytest.mark.django_db(transaction=True)

AZURITE = Path(__file__).resolve().parents[2] / "var" / "tools" / "node_modules" / ".bin" / "azurite-blob"
START_SECONDS = 60.0
# Azurite's own account, the same on every machine.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
POLICY = "# Returns\n\nGoods may be returned within 30 days – “unused”.\n".encode()


def connection_string(port: int) -> str:
    return (
        f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={KEY};"
        f"BlobEndpoint=http://127.0.0.1:{port}/{ACCOUNT}"
    )


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def await_listening(process: "subprocess.Popen[bytes]", port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    pytest.fail(f"Azurite does not listen on port {port} (exit code {process.poll()}).")


@pytest.fixture(scope="module")
def azurite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The connection string of an Azurite that holds nothing yet."""
    if not AZURITE.exists():
        pytest.fail("Azurite is not installed in var/tools: run `make azurite` (it needs Node).")
    port = free_port()
    command = [str(AZURITE), "--blobHost", "127.0.0.1", "--blobPort", str(port), "--inMemoryPersistence"]
    process = subprocess.Popen(
        [*command, "--skipApiVersionCheck", "--disableTelemetry", "--silent"],
        cwd=tmp_path_factory.mktemp("azurite"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        await_listening(process, port)
        yield connection_string(port)
    finally:
        process.terminate()
        process.wait(timeout=20)


def use(settings: Settings, address: str, container: str, *, makes_container: bool = True) -> None:
    """The product keeps its files in this container, as settings would have it."""
    storages: dict[str, Any] = dict(settings.STORAGES)
    storages["default"] = {
        "BACKEND": "larkfield.azure_files.AzureFiles",
        "OPTIONS": {
            "connection_string": address, "azure_container": container, "overwrite_files": True,
            "makes_container": makes_container,
        },
    }  # fmt: skip
    settings.STORAGES = storages


@pytest.fixture
def container(azurite: str, settings: Settings, request: pytest.FixtureRequest) -> ContainerClient:
    """A container of this test alone, seen by a client of its own; nobody has made it yet."""
    name = f"test-{hashlib.sha256(request.node.name.encode()).hexdigest()[:20]}"
    use(settings, azurite, name)
    return BlobServiceClient.from_connection_string(azurite).get_container_client(name)


def blobs(container: ContainerClient) -> list[str]:
    return [blob.name for blob in container.list_blobs()] if container.exists() else []


def test_an_upload_is_a_blob_with_the_recorded_bytes_and_is_downloaded_as_it_was_sent(
    container: ContainerClient,
) -> None:
    omar = Uploader("omar", "upload")
    accepted = omar.accepted(content=POLICY)
    version = DocumentVersion.objects.get()
    assert blobs(container) == [version.storage_key]
    content = container.download_blob(version.storage_key).readall()
    assert content == POLICY
    assert hashlib.sha256(content).hexdigest() == version.sha256 == accepted["version"]["sha256"]
    answer = omar.client.get(accepted["version"]["url"] + "/file")
    assert (answer.status_code, answer.getvalue()) == (200, POLICY)
    assert "attachment" in answer["Content-Disposition"]


def test_a_refused_upload_leaves_no_blob(container: ContainerClient, settings: Settings) -> None:
    omar = Uploader("omar", "upload")
    omar.accepted(content=POLICY)
    kept = blobs(container)
    body(omar.upload("refunds", b""), 422)
    body(omar.upload("returns", POLICY, headers={"If-Match": '"7"'}), 412)
    settings.DOCUMENTS_QUEUE_MAX = 1
    body(omar.upload("refunds", POLICY), 503)
    assert blobs(container) == kept
    assert len(kept) == 1


def test_an_upload_that_loses_its_place_at_the_last_moment_takes_its_blob_with_it(
    container: ContainerClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The queue is full only inside the transaction, when the blob is there already."""
    monkeypatch.setattr("ingestion.admission.refuse_early", lambda *_: None)
    settings.DOCUMENTS_QUEUE_MAX = 1
    omar = Uploader("omar", "upload")
    omar.accepted(content=POLICY)
    body(omar.upload("refunds", POLICY), 503)
    assert len(blobs(container)) == 1


def test_a_worker_publishes_what_lies_in_the_container(container: ContainerClient, simulator: Simulator) -> None:
    omar = Uploader("omar", "upload")
    accepted = omar.accepted(content=POLICY)
    assert Loop(["documents"], 2, 1.0, once=True).run() == 0
    assert omar.get(accepted["job"]["url"])["state"] == "succeeded"
    assert omar.get("/v1/documents/returns")["published"]["number"] == 1


def test_reconcile_lists_the_container_and_names_the_blob_that_nobody_knows(
    container: ContainerClient, settings: Settings
) -> None:
    settings.ORPHAN_GRACE_SECONDS = 0.0
    omar = Uploader("omar", "upload")
    omar.accepted(content=POLICY)
    default_storage.save("versions/left/over.md", ContentFile(b"nobody's"))
    # Azure dates blobs in whole seconds: the edge lies a little later than the grace alone would have it.
    settings.ORPHAN_GRACE_SECONDS = -2.0
    assert list(old_files()) == ["versions/left/over.md"]
    assert stored.files_have_a_version().broken == 1
    assert stored.files_are_whole(stored.kept_files()).broken == 0


def test_reconcile_names_the_file_whose_blob_is_gone_or_changed(container: ContainerClient) -> None:
    omar = Uploader("omar", "upload")
    for slug in ("returns", "refunds", "repairs"):
        omar.accepted(slug, POLICY)
    gone, changed, _ = DocumentVersion.objects.order_by("id").values_list("storage_key", flat=True)
    container.delete_blob(gone)
    container.upload_blob(changed, b"other bytes", overwrite=True)
    assert sorted(stored.files_are_whole(stored.kept_files()).ids) == sorted([gone, changed])


def test_a_download_whose_blob_is_gone_is_not_found(container: ContainerClient) -> None:
    omar = Uploader("omar", "upload")
    accepted = omar.accepted(content=POLICY)
    container.delete_blob(DocumentVersion.objects.get().storage_key)
    body(omar.client.get(accepted["version"]["url"] + "/file"), 404)


def checks(client: Client) -> tuple[int, str]:
    answer = client.get("/readyz")
    return answer.status_code, answer.json()["checks"]["storage"]


def test_it_is_ready_while_the_container_answers_and_not_when_nothing_listens(
    container: ContainerClient, settings: Settings
) -> None:
    assert checks(Client()) == (200, "ok")
    use(settings, connection_string(free_port()), container.container_name)
    assert checks(Client()) == (503, "down")


def test_a_container_that_was_not_provisioned_keeps_a_production_machine_from_being_ready(
    container: ContainerClient, azurite: str, settings: Settings
) -> None:
    use(settings, azurite, container.container_name, makes_container=False)
    assert checks(Client()) == (503, "down")
    with pytest.raises(OSError, match="AZURE_STORAGE_CONTAINER"):
        default_storage.exists("anything")
