"""Files of pictures, read into their samples."""
