"""One that was made for another processor."""

raise RuntimeError("operator torchvision::nms does not exist")
