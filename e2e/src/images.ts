/** The images that containers are started from. A machine without access to an image registry sets its own. */
export const IMAGES = {
  postgres: process.env['VITRINE_IMAGE_POSTGRES'] ?? 'postgres:17',
  kafka: process.env['VITRINE_IMAGE_KAFKA'] ?? 'apache/kafka:4.1.1',
  node: process.env['VITRINE_IMAGE_NODE'] ?? 'node:24-bookworm-slim',
  k3s: process.env['VITRINE_IMAGE_K3S'] ?? 'rancher/k3s:v1.35.4-k3s1',
};
