"""From coefficients to spans: spectral, ordered, peaks, online."""
