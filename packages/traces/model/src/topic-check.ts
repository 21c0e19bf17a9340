/** Marks a record without value that `doctor` publishes to see whether traces can be: no consumer makes a trace of it. */
export const TOPIC_CHECK_HEADER = 'vitrine-check';
