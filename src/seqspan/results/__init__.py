"""Result folders: their files, fingerprints and caches. Used by ``Segmentation.save`` and ``load``."""

__all__: list[str] = []
