"""The pieces of the Watermark lab."""
