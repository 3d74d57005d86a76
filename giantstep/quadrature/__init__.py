"""Rules of quadrature: panels, tensor products, nested adaptive integrals, contours."""
