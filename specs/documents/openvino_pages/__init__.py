"""What the dialects of OpenVINO specifications share: sections, nested items, worked examples."""
