/** The requirements of the `restricted` admission level for a pod. */
export const RESTRICTED_POD = {
  runAsNonRoot: true,
  runAsUser: 1000,
  runAsGroup: 1000,
  fsGroup: 1000,
  seccompProfile: { type: 'RuntimeDefault' },
} as const;

/** Its requirements for a container. */
export const RESTRICTED_CONTAINER = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
} as const;

/** A folder of a pod with files of this checkout. */
export interface SourceFile {
  /** Path in the pod, relative to where the volume is mounted. */
  readonly path: string;
  readonly text: string;
}

/** A ConfigMap with sources, and the volume that gives them their paths. A ConfigMap is limited to 1 MiB. */
export function sourceVolume(name: string, files: readonly SourceFile[]) {
  const keys = files.map(({ path }) => path.replaceAll('/', '--'));
  return {
    configMap: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name },
      data: Object.fromEntries(files.map(({ text }, at) => [keys[at] ?? '', text])),
    },
    volume: { name, configMap: { name, items: files.map(({ path }, at) => ({ key: keys[at] ?? '', path })) } },
  };
}
