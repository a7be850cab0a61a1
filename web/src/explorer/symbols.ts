// Symbols of the papers, their names and what they mean: what a reader sees who rests on one.
// docs/notation.md is the whole list.
//
// SPDX-License-Identifier: Apache-2.0

export interface Symbol {
  sign: string; // as a formula of rich_text.ts
  name: string;
  meaning: string; // with its unit, where it has one
}

const kSymbols: Record<string, Symbol> = {
  n: { sign: 'n', name: 'tokens', meaning: 'how many tokens, and so keys, a query sees' },
  d: { sign: 'd', name: 'dimension', meaning: 'dimension of a token, or of a head' },
  rho: { sign: 'ρ', name: 'correlation', meaning: 'cosine between two tokens, from 0 to 1' },
  gamma: {
    sign: 'γ',
    name: 'scale',
    meaning: 'β / log n: the inverse temperature in units of the logarithm of the length',
  },
  alpha: { sign: 'α', name: 'residual', meaning: 'strength of the skip connection; 0: none' },
  t: {
    sign: 't',
    name: 'load',
    meaning: 'βσ / √(2 log n): the inverse temperature in units of the condensation; critical at 1',
  },
  signal: {
    sign: 's',
    name: 'planted signal',
    meaning: 'score of a planted key, in units of σ√(2 log n), the largest score of noise',
  },
  planted: { sign: 'm', name: 'planted score', meaning: 'score of a planted key, itself' },
  sigma: { sign: 'σ', name: 'deviation', meaning: 'standard deviation of the scores' },
  theta: {
    sign: 'θ',
    name: 'temperature scale',
    meaning: 'β / β_*: the inverse temperature in units of the critical scale n^(2/(d−1)) of the law',
  },
  beta: { sign: 'β', name: 'inverse temperature', meaning: 'multiplies the scores before the softmax' },
  edge: {
    sign: 'β/β_edge',
    name: 'edge scale',
    meaning: 'β in units of the hazard of the score law at its upper 1/n quantile',
  },
  lambda: { sign: 'λ', name: 'repetition', meaning: 'how often a token of the chain repeats, from 0 to 1' },
  pi: { sign: 'π', name: 'frequencies', meaning: 'stationary law of the tokens; sums to 1' },
  init: { sign: 'ε', name: 'initial size', meaning: 'standard deviation of the initial weights' },
  m: { sign: 'm', name: 'width', meaning: 'width of the model' },
  draws: { sign: '', name: 'draws', meaning: 'independent repetitions: errors fall as 1/√draws' },
  multiplier: {
    sign: 'm',
    name: 'multiplier',
    meaning: 'factor of the logits: phase(m) = m · phase(1)',
  },
  layers: { sign: 'L', name: 'layers', meaning: 'how many layers in a row' },
  contraction: {
    sign: 'λ',
    name: 'contraction',
    meaning: 'mean ratio of 1 − cosine after and before the layer: 0 is collapse, 1 leaves angles alone',
  },
  jacobian_norm: {
    sign: 'η',
    name: 'Jacobian norm',
    meaning: 'squared Frobenius norm of the Jacobian of the layer, divided by n·d',
  },
  entropy: { sign: 'H', name: 'entropy', meaning: '−Σ w log w of a row of weights, in nats' },
  largest_weight: { sign: 'w_max', name: 'largest weight', meaning: 'the largest weight of a row' },
  participation: {
    sign: 'Σw^2',
    name: 'participation',
    meaning: 'sum of squared weights: its inverse is the number of keys that are read',
  },
  self_mass: { sign: 'a', name: 'own weight', meaning: 'weight of a token on itself' },
  cluster_mass: {
    sign: '',
    name: 'weight on its cluster',
    meaning: 'weight on the other tokens of its cluster',
  },
  rest_mass: { sign: '', name: 'weight on the rest', meaning: 'weight on everything else' },
  smallest_cosine: { sign: '', name: 'smallest cosine', meaning: 'between two outputs of the layer' },
  mean_cosine: { sign: '', name: 'mean cosine', meaning: 'between two outputs of the layer' },
  largest_cosine: { sign: '', name: 'largest cosine', meaning: 'between two outputs of the layer' },
  retrieval_signal: {
    sign: 's_c',
    name: 'retrieval signal',
    meaning: 'the least planted signal that takes half of the weight at this load',
  },
  scaled_bias: {
    sign: 'B',
    name: 'scaled bias',
    meaning: 'distance of the mean output from the query, in units of the critical scale',
  },
  scaled_scatter: {
    sign: 'V',
    name: 'scaled fluctuation',
    meaning: 'mean square fluctuation of the output, in units of the critical scale',
  },
  planted_weight: { sign: 'w_s', name: 'planted weight', meaning: 'weight of the planted key' },
  log_partition: { sign: 'log Z', name: 'log partition', meaning: 'logarithm of the sum of exponentials' },
  phase: { sign: 'τ', name: 'phase', meaning: 'β / β_dew: below 1 diffuse, above 1 condensed' },
  beta_dew_median: {
    sign: 'β_dew',
    name: 'dew point',
    meaning: 'the β where the largest weight is as large as all others; median over draws',
  },
  dew_point: {
    sign: 'β_dew',
    name: 'dew point',
    meaning: 'factor of the logits at which the largest weight is as large as all others; median over queries',
  },
  beta_pr: { sign: 'β_PR', name: 'participation point', meaning: 'the β where the mean of Σw^2 is 1/2' },
  beta_edge: {
    sign: 'β_edge',
    name: 'edge',
    meaning: 'hazard of the score law at its upper 1/n quantile: predicted, not measured',
  },
};

/** A name that has no symbol is its own explanation. */
export function symbol_of(name: string): Symbol {
  const words = name.replaceAll(/[_-]/g, ' ');
  return kSymbols[name] ?? { sign: '', name: words, meaning: words };
}

/** "λ contraction": a label of an axis or of a row. */
export function labelled(name: string): string {
  const { sign, name: words } = symbol_of(name);
  return sign === '' ? words : `${words} ${sign}`;
}
