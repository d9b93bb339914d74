"""Result folders: what is written, fingerprints, caches; ``Segmentation.save`` and ``load`` use it."""

__all__: list[str] = []
