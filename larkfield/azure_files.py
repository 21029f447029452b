"""Files on Azure Blob as the product expects them of any storage; what django-storages leaves open is settled here.

A missing file is FileNotFoundError, a folder is listed by its own names, and a storage that is away is noticed in
seconds. A production container is provisioned, not made by the product; development makes its own on first use.
"""

import contextlib
from datetime import datetime
from typing import Any

from azure.core.exceptions import ResourceExistsError, ResourceNotFoundError
from azure.storage.blob import BlobPrefix, BlobServiceClient, ContainerClient, ExponentialRetry
from django.core.files.base import File
from storages.backends.azure_storage import AzureStorage

CONNECT_SECONDS = 5
READ_SECONDS = 20
# The client's own default waits for minutes before it says that nothing answers; jobs have a backoff of their own.
RETRIES = 1


class AzureFiles(AzureStorage):  # type: ignore[misc]  # django-storages has no types
    """A blob container as Django's storage. `makes_container`: it is created when the first use finds none."""

    def get_default_settings(self) -> dict[str, Any]:
        return {**super().get_default_settings(), "makes_container": False}

    def _get_service_client(self) -> BlobServiceClient:
        return BlobServiceClient.from_connection_string(
            self.connection_string,
            connection_timeout=CONNECT_SECONDS,
            read_timeout=READ_SECONDS,
            retry_policy=ExponentialRetry(initial_backoff=1, retry_total=RETRIES, random_jitter_range=1),
        )

    @property
    def client(self) -> ContainerClient:
        if self._client is None:  # type: ignore[has-type]  # set by the parent
            client = self.service_client.get_container_client(self.azure_container)
            if self.makes_container:
                # It may be there: made by another process, or long ago.
                with contextlib.suppress(ResourceExistsError):
                    client.create_container()
            self._client = client
        found: ContainerClient = self._client
        return found

    def exists(self, name: str) -> bool:
        """Whether the file is there. Raises OSError, which says what to do, where the container itself is not."""
        if super().exists(name):
            return True
        if not self.client.exists():
            raise OSError(
                f"The blob container {self.azure_container!r} does not exist: create it, "
                "or name another in AZURE_STORAGE_CONTAINER."
            )
        return False

    def listdir(self, path: str = "") -> tuple[list[str], list[str]]:
        """The names of the folders and files directly in `path`, as other storages give them."""
        prefix = f"{self._get_valid_path(path)}/" if path.strip("/") else ""
        folders: list[str] = []
        files: list[str] = []
        for found in self.client.walk_blobs(name_starts_with=prefix, timeout=self.timeout):
            names = folders if isinstance(found, BlobPrefix) else files
            names.append(found.name.removeprefix(prefix).rstrip("/"))
        return folders, files

    def get_modified_time(self, name: str) -> datetime:
        try:
            changed: datetime = super().get_modified_time(name)
        except ResourceNotFoundError:
            raise FileNotFoundError(name) from None
        return changed

    def _open(self, name: str, mode: str = "rb") -> "File[bytes]":
        """The file with its bytes already here, so that a missing one is noticed now and not at the first read."""
        opened: File[bytes] = super()._open(name, mode)
        try:
            opened.file  # noqa: B018  # asking for it downloads it
        except ResourceNotFoundError:
            raise FileNotFoundError(name) from None
        return opened
