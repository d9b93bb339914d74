"""The parameters of each method, and what they say about the stages of the pipeline.

The command line needs no more than that. Estimators add scikit-learn, which takes longer to import than all
the rest.
"""

__all__: list[str] = []
