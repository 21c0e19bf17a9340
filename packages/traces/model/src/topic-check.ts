/** Marks a record without a value that `doctor` publishes to check the topic. Consumers skip it. */
export const TOPIC_CHECK_HEADER = 'vitrine-check';
