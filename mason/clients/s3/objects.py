"""The objects of a store: listed in pages, deleted in batches, written under conditions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any
from uuid import uuid4

from botocore.exceptions import ClientError

from mason.clients.aws.failures import code_of
from mason.clients.s3.failures import failure, require_attribute, s3_failures
from mason.errors import ClientFailed, Forbidden, PathNotFound
from mason.pipeline.storage.object_store import StoredObject

_BATCH = 1000  # what S3 takes in one request
_NOT_MET = ("PreconditionFailed", "412")
_AT_ONCE = ("ConditionalRequestConflict", "409")  # somebody else writes at this very moment; S3 says: ask again
_ATTEMPTS = 5
_IN_PARTS = 1024**3
_FORGOTTEN = timedelta(days=1)


class S3Objects:
    """Objects by their paths, `bucket/key`."""

    _kept_conditions: dict[tuple[str, str], bool] = {}

    def __init__(self, client: Any) -> None:
        self._client = client

    def buckets(self) -> Iterator[Mapping[str, Any]]:
        """Yield the buckets, each as S3 describes it."""
        with s3_failures(""):
            for page in self._client.get_paginator("list_buckets").paginate():
                yield from page.get("Buckets", ())

    def make_bucket(self, name: str) -> bool:
        """Make a bucket, unless there is one of that name already."""
        region = self._client.meta.region_name
        # The oldest region is the one that may not be named.
        where = {} if region == "us-east-1" else {"CreateBucketConfiguration": {"LocationConstraint": region}}
        with s3_failures(name):
            try:
                self._client.head_bucket(Bucket=name)
                return False
            except ClientError as error:
                if code_of(error) not in ("404", "NoSuchBucket"):
                    raise
            try:
                self._client.create_bucket(Bucket=name, **where)
            except ClientError as error:
                if code_of(error) in ("BucketAlreadyExists", "BucketAlreadyOwnedByYou"):
                    return False
                raise
        return True

    def remove_bucket(self, name: str) -> None:
        """Remove a bucket that is empty."""
        with s3_failures(name):
            self._client.delete_bucket(Bucket=name)

    def below(self, folder: str) -> Iterator[StoredObject]:
        """Yield every object below a folder."""
        bucket, key = split(folder)
        with s3_failures(folder):
            prefix = f"{key}/" if key else ""
            for page in self._client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix):
                now = _date(page)
                for each in page.get("Contents", ()):
                    yield self._stored_object(f"{bucket}/{each['Key']}", each["Size"], each, now)

    def children(self, folder: str) -> tuple[list[str], list[str]]:
        """Return the folders and the objects directly in a folder, by their names."""
        bucket, key = split(folder)
        prefix = f"{key}/" if key else ""
        folders: list[str] = []
        objects: list[str] = []
        with s3_failures(folder):
            pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix, Delimiter="/")
            for page in pages:
                folders += [each["Prefix"][len(prefix) : -1] for each in page.get("CommonPrefixes", ())]
                objects += [each["Key"][len(prefix) :] for each in page.get("Contents", ())]
        return folders, [each for each in objects if each]

    def find(self, path: str) -> StoredObject | None:
        """Return the object of that very path, if there is one."""
        bucket, key = split(path)
        if not key:
            return None
        try:
            with s3_failures(path):
                found = self._client.head_object(Bucket=bucket, Key=key)
        except PathNotFound:
            return None
        except (Forbidden, ClientFailed):
            self._say_why(path)
            raise
        return self._stored_object(path, found["ContentLength"], found, _date(found))

    def is_folder(self, folder: str) -> bool:
        """Say whether any object is below a folder."""
        bucket, key = split(folder)
        with s3_failures(folder):
            found = self._client.list_objects_v2(Bucket=bucket, Prefix=f"{key}/" if key else "", MaxKeys=1)
        return not key or bool(found.get("Contents"))

    def abandon_uploads(self, folder: str) -> None:
        """Remove the parts of uploads below a folder that were never finished, if they are a day old."""
        bucket, key = split(folder)
        with s3_failures(folder):
            pages = self._client.get_paginator("list_multipart_uploads").paginate(Bucket=bucket, Prefix=f"{key}/")
            for page in pages:
                now = _date(page)
                for each in page.get("Uploads", ()):
                    if now - each["Initiated"] >= _FORGOTTEN:
                        self._client.abort_multipart_upload(Bucket=bucket, Key=each["Key"], UploadId=each["UploadId"])

    def read(self, path: str) -> tuple[bytes, str] | None:
        """Return an object's content and the tag of this version of it; nothing where there is none."""
        bucket, key = split(path)
        try:
            with s3_failures(path):
                found = self._client.get_object(Bucket=bucket, Key=key)
                return _content(found), require_attribute(path, found, "ETag", self._client)
        except PathNotFound:
            return None

    def read_start(self, path: str, length: int) -> bytes:
        """Return the first bytes of an object; none where there is no such object, or nothing in it."""
        found = self.find(path)
        if found is None or not found.size:  # there is no range of what is empty
            return b""
        bucket, key = split(path)
        with s3_failures(path):
            return _content(self._client.get_object(Bucket=bucket, Key=key, Range=f"bytes=0-{length - 1}"))

    def write(self, path: str, content: bytes) -> None:
        """Write an object, whatever is there."""
        bucket, key = split(path)
        with s3_failures(path):
            self._client.put_object(Bucket=bucket, Key=key, Body=content)

    def write_new(self, path: str, content: bytes) -> str | None:
        """Write an object unless there is one, and return its tag; nothing where there is one."""
        return self._write_if(path, content, {"IfNoneMatch": "*"})

    def rewrite(self, path: str, content: bytes, tag: str) -> str | None:
        """Write an object if it still is the version of the tag, and return its new tag; nothing where it is not."""
        return self._write_if(path, content, {"IfMatch": tag})

    def copy(self, source: str, target: str) -> None:
        """Copy an object inside the store; a large one in parts."""
        (bucket, key), (to_bucket, to_key) = split(source), split(target)
        with s3_failures(source):
            from boto3.s3.transfer import TransferConfig

            settings = TransferConfig(multipart_threshold=_IN_PARTS, multipart_chunksize=_IN_PARTS // 8)
            self._client.copy({"Bucket": bucket, "Key": key}, to_bucket, to_key, Config=settings)

    def delete(self, paths: Iterable[str]) -> None:
        """Delete objects of one bucket, a thousand at a time; one that is not there is none to worry about."""
        wanted = list(paths)
        for start in range(0, len(wanted), _BATCH):
            batch = wanted[start : start + _BATCH]
            bucket = split(batch[0])[0]
            keys = [{"Key": split(path)[1]} for path in batch]
            with s3_failures(batch[0]):
                answer = self._client.delete_objects(Bucket=bucket, Delete={"Objects": keys, "Quiet": True})
            for each in answer.get("Errors", ()):
                raise failure(f"{bucket}/{each.get('Key')}", each.get("Code", ""), "", each.get("Message", ""))

    def remove_empty_folders(self, folder: str) -> None:
        """Remove what some stores keep of folders whose objects are gone, and would go on listing.

        For the others this is one request. A folder that is not empty stays.
        """
        bucket, key = split(folder)
        with s3_failures(folder):
            # Asked for by its whole name, SeaweedFS does not show a folder that has nothing in it.
            found = self._client.list_objects_v2(Bucket=bucket, Prefix=key[:-1], Delimiter="/")
        if f"{key}/" in [each["Prefix"] for each in found.get("CommonPrefixes", ())]:
            self.delete(f"{each}/" for each in self._folders(folder))

    def keeps_conditions(self, folder: str) -> bool:
        """Say whether conditional writes hold what they promise here; it is found out by trying, once per bucket."""
        where = (self._client.meta.endpoint_url, split(folder)[0])
        if where not in self._kept_conditions:
            self._kept_conditions[where] = self.try_conditions(folder)
        return self._kept_conditions[where]

    def try_conditions(self, folder: str) -> bool:
        """Say whether conditional writes hold what they promise in a folder, of which nothing is known yet.

        Raises:
            Forbidden: nothing may be written there.
            PathNotFound: there is no such bucket.
        """
        path = f"{folder}/.mason/probes/{uuid4().hex}"
        try:
            tag = self.write_new(path, b"1")
            refused = self.write_new(path, b"2") is None
            changed = self.rewrite(path, b"3", tag or "")
            return bool(tag and refused and changed and self.rewrite(path, b"4", tag) is None)
        except ClientFailed:  # a store that does not know conditions may also say so
            return False
        finally:
            self.delete([path])

    def _stored_object(self, path: str, size: int, answer: Mapping[str, Any], now: datetime) -> StoredObject:
        tag, written = (require_attribute(path, answer, name, self._client) for name in ("ETag", "LastModified"))
        return StoredObject(path, size, tag, (now - written).total_seconds())

    def _folders(self, folder: str) -> Iterator[str]:
        """A folder and those below it, the innermost first."""
        for name in self.children(folder)[0]:
            yield from self._folders(f"{folder}/{name}")
        yield folder

    def _write_if(self, path: str, content: bytes, condition: Mapping[str, str]) -> str | None:
        bucket, key = split(path)
        for _ in range(_ATTEMPTS):
            try:
                written = self._client.put_object(Bucket=bucket, Key=key, Body=content, **condition)
                tag: str = require_attribute(path, written, "ETag", self._client)
                return tag
            except ClientError as error:
                if code_of(error) in _AT_ONCE:
                    continue
                if code_of(error) in _NOT_MET or ("IfMatch" in condition and code_of(error) == "NoSuchKey"):
                    return self._own_tag(path, content)
                with s3_failures(path):
                    raise
        return self._own_tag(path, content)

    def _own_tag(self, path: str, content: bytes) -> str | None:
        """The tag of what is there if it is what was to be written: the first answer may have been lost."""
        found = self.read(path)
        return found[1] if found and found[0] == content else None

    def _say_why(self, path: str) -> None:
        """Ask in a way that is answered with a reason: the answer to a HEAD has no room for one."""
        bucket, key = split(path)
        with s3_failures(path):
            self._client.list_objects_v2(Bucket=bucket, Prefix=key, MaxKeys=1)


def split(path: str) -> tuple[str, str]:
    """Return the bucket and the key of a path."""
    bucket, _, key = path.partition("/")
    return bucket, key


def _content(answer: Mapping[str, Any]) -> bytes:
    with closing(answer["Body"]) as body:
        content: bytes = body.read()
    return content


def _date(answer: Mapping[str, Any]) -> datetime:
    header = answer["ResponseMetadata"]["HTTPHeaders"].get("date")
    return parsedate_to_datetime(header) if header else datetime.now(UTC)
