"""What there is, as the API server lists it without the documents. Pure.

Of each object the server sends its metadata, most of which says who has set which field: only what is named here
becomes objects of Python.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

AS_METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
"""What such a list is asked for as; a server that has none sends the documents, of which as much is read."""


class Seen(BaseModel):
    """Where an object is, and its newest version."""

    name: str
    namespace: str
    version: int = Field(alias="resourceVersion")


class _Item(BaseModel):
    metadata: Seen


class _Whole(BaseModel):
    version: int = Field(alias="resourceVersion")
    next: str | None = Field(default=None, alias="continue")


class _Listing(BaseModel):
    metadata: _Whole
    items: list[_Item] | None = None


def read_listing(answer: bytes) -> tuple[Sequence[Seen], int, str | None]:
    """One page of a list: what is on it, the version of the whole, and where the next page begins, None for the last.

    Raises ValueError.
    """
    page = _Listing.model_validate_json(answer)
    return [one.metadata for one in page.items or ()], page.metadata.version, page.metadata.next
