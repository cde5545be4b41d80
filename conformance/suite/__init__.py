"""What a suite is made of and how it lies on disk: cases, goldens, manifests, parts, shards."""
