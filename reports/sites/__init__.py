"""Many runs as a site: every runtime in several versions, by operator, by cause and by what changed."""
