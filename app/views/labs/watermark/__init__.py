"""The Watermark lab."""
