"""Commands too long for the command line's first file, one file each."""
