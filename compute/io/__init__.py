"""Files of any kind: written whole, records and tables read, numbers in tables, folders of images."""
