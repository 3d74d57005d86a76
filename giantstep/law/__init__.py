"""From a model to its laws: conditioning, features, labels and the spectrum of the bulk.

The map. Every model passes through the first two; each of the others is for models that have what it says.

spike                       strength, alignments and bulk variances of the features: of [spike], or after [step]
kind                        which law the rows have, and whether averages over label and output are closed
gradient_step               what the step is a function of, by moments (one index) or multi_index_moments
directions                  a spike of rank q: as few directions as the features know
further_steps               several giant steps: the rows after each (layer_state)
repeated_batch              two steps on one batch, whose samples the rows have seen (seen_samples)
intermediate_steps          a step below the giant one, whose mean_feature_orders are polynomials of kappa
labels                      the label given kappa for a loss that is not the square one, without kinks or of one index
label_moments               a label of several indices: by multi_index_labels where it has kinks (kink_roots)
rows_after_step             rows of a trained bulk: their covariance, and row_norms
    residual, residual_nodes    the residual of a sample of the step, which these are averages over, at few_nodes
    stretched_bulk              samples of the step, in the place of a spectrum
given_bulk, given_file      rows that are given as a file
structured_inputs           inputs of a given covariance
derivation                  what is derived for a model, printed; rates_by_value: how blocks move with a parameter
"""
