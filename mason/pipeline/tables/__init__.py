"""Tables that Mason writes: their versions and commits on disks and object stores, and files of others among theirs."""
