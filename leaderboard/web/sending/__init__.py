"""What the server sends: files, downloads and pages, at the pace of those who read them."""
