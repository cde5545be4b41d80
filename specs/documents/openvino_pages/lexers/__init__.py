"""The lexers of OpenVINO specifications, one for each generation of their markup."""
