"""Reading files that users bring: tables, the numbers in them, and folders of images."""
