"""A page that is asked for while the database is away says so, and not that it is a fault."""

import pytest
from django.db import OperationalError
from django.test import Client

PAGES = ("/", "/documents/", "/news/", "/operations/", "/upload/")


@pytest.mark.parametrize("path", PAGES)
def test_a_page_says_that_the_database_is_away_and_looks_again(
    db: None, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    def away(*arguments: object, **values: object) -> None:
        raise OperationalError("the server closed the connection unexpectedly")

    # The session is what every page asks the database for first.
    monkeypatch.setattr("django.contrib.sessions.backends.db.SessionStore._get_session_from_db", away)
    client = Client(raise_request_exception=False)
    client.cookies["sessionid"] = "of-somebody"
    answer = client.get(path)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    body = answer.content.decode()
    assert "The database does not answer" in body
    assert "Traceback" not in body
    assert "unexpectedly" not in body
