"""Names that become addresses: slugs and storage keys (pure but for the random part)."""

import re
import uuid

SLUG = re.compile(r"[a-z0-9-]{1,100}")


def is_slug(text: str) -> bool:
    """1 to 100 lower-case letters (a to z), digits and hyphens."""
    return SLUG.fullmatch(text) is not None


def storage_key(slug: str) -> str:
    """A fresh place for a file. Nothing of it comes from the uploaded file's own name."""
    return f"versions/{slug}/{uuid.uuid4().hex}"
