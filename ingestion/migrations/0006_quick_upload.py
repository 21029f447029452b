"""Admission of an upload: its rows, and what is ahead of it, as two functions of the database."""

from pathlib import Path

from django.db import migrations

DROP = "DROP FUNCTION IF EXISTS ingestion_add_version, ingestion_ahead"


def _text(name):
    return (Path(__file__).parent / "sql" / f"{name}.sql").read_text()


class Migration(migrations.Migration):
    dependencies = [("ingestion", "0005_tallies")]

    operations = [
        migrations.RunSQL(_text("ahead"), migrations.RunSQL.noop),
        migrations.RunSQL(_text("add_version"), DROP),
    ]
