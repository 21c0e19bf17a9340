{{/*
A service: Deployment, configuration, budget, autoscaling, metrics and network policy. docs/adding-a-service.md describes how to add one. Takes
  root, component   the component is the name of the target in deploy/Dockerfile
  values            its block of values
  metricsPort       port of /metrics
  configVariable    the variable with the path of its configuration file
  env, volumes, mounts, ingress, egress   YAML lists, or empty
  serviceAccountName    only if the service calls the API server
  ephemeralMi       maximum size of its emptyDir volumes, in MiB
*/}}
{{- define "vitrine.workload" -}}
{{- $_ := set . "port" (include "vitrine.port" . | int) }}
{{- include "vitrine.deployment" . }}
{{- include "vitrine.config" . }}
{{- include "vitrine.disruptionBudget" . }}
{{- include "vitrine.horizontalAutoscaler" . }}
{{- include "vitrine.metrics" . }}
{{- include "vitrine.serviceMonitor" . }}
{{- $egress := list (include "vitrine.egressDns" .root) .egress (include "vitrine.egressTelemetry" .values.config) }}
{{- with .values.extraEgress }}
{{- $egress = append $egress (toYaml .) }}
{{- end }}
{{- $ingress := list .ingress (include "vitrine.metricsIngress" .) }}
{{- include "vitrine.networkPolicy" (merge (dict "ingress" (compact $ingress | join "\n") "egress" (compact $egress | join "\n")) .) }}
{{- end }}

{{- define "vitrine.deployment" -}}
{{- $values := .values -}}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "vitrine.name" .root }}-{{ .component }}
  labels:
    {{- include "vitrine.labels" . | nindent 4 }}
spec:
  {{- if not (include "vitrine.isAutoscaled" $values) }}
  replicas: {{ $values.replicas }}
  {{- end }}
  revisionHistoryLimit: 3
  strategy:
    rollingUpdate: { maxSurge: 1, maxUnavailable: 0 }
  selector:
    matchLabels:
      {{- include "vitrine.selector" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "vitrine.selector" . | nindent 8 }}
        {{- with $values.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      annotations:
        checksum/config: {{ toYaml $values.config | sha256sum }}
        {{- with $values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      {{- include "vitrine.podCommon" . | nindent 6 }}
      automountServiceAccountToken: {{ not (empty .serviceAccountName) }}
      {{- with .serviceAccountName }}
      serviceAccountName: {{ . }}
      {{- end }}
      terminationGracePeriodSeconds: {{ $values.terminationGracePeriodSeconds }}
      {{- include "vitrine.scheduling" . | nindent 6 }}
      containers:
        - name: {{ .component }}
          image: {{ include "vitrine.image" (dict "root" .root "image" $values.image) }}
          imagePullPolicy: {{ .root.Values.image.pullPolicy }}
          env:
            - name: {{ .configVariable }}
              value: /etc/vitrine/config/config.yaml
            {{- .env | nindent 12 }}
            {{- with $values.extraEnv }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
          ports:
            - { name: http, containerPort: {{ .port }} }
            {{- if ne .metricsPort .port }}
            - { name: metrics, containerPort: {{ .metricsPort }} }
            {{- end }}
          {{- include "vitrine.probes" . | nindent 10 }}
          {{- if gt (int $values.preStopSeconds) 0 }}
          lifecycle:
            preStop:
              sleep: { seconds: {{ $values.preStopSeconds }} }
          {{- end }}
          resources:
            {{- include "vitrine.resources" (dict "resources" $values.resources "ephemeralMi" .ephemeralMi) | nindent 12 }}
          securityContext:
            {{- include "vitrine.containerSecurityContext" . | nindent 12 }}
          volumeMounts:
            - { name: tmp, mountPath: /tmp }
            - { name: config, mountPath: /etc/vitrine/config, readOnly: true }
            {{- with trim .mounts }}
            {{- . | nindent 12 }}
            {{- end }}
      volumes:
        {{- include "vitrine.tmpVolume" . | nindent 8 }}
        - name: config
          configMap:
            name: {{ include "vitrine.name" .root }}-{{ .component }}
        {{- with trim .volumes }}
        {{- . | nindent 8 }}
        {{- end }}
{{- end }}

{{/* Non-empty if an autoscaler sets the number of pods. */}}
{{- define "vitrine.isAutoscaled" -}}
{{- if or (dig "autoscaling" "enabled" false .) (dig "keda" "enabled" false .) }}true{{ end }}
{{- end }}

{{/* Startup may take ten minutes, because a service waits for its database and a restart would not help. Pods that are short of CPU all
respond late at the same time, so a timeout of 2 s would leave a Service without endpoints. */}}
{{- define "vitrine.probes" -}}
startupProbe:
  httpGet: { path: /livez, port: http }
  periodSeconds: 1
  timeoutSeconds: 2
  failureThreshold: 600
readinessProbe:
  httpGet: { path: /readyz, port: http }
  periodSeconds: 2
  timeoutSeconds: 5
  failureThreshold: 3
livenessProbe:
  httpGet: { path: /livez, port: http }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
{{- end }}

{{- define "vitrine.scheduling" -}}
topologySpreadConstraints:
  {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "vitrine.selector" $ | nindent 8 }}
  {{- end }}
{{- range $key := list "nodeSelector" "tolerations" "affinity" }}
{{- with get $.values $key }}
{{ $key }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{/* A pod is evicted when its volumes, logs and files take more than its limit of ephemeral storage. */}}
{{- define "vitrine.resources" -}}
{{- $disk := printf "%dMi" (add 256 (int .ephemeralMi)) -}}
requests:
  {{- toYaml .resources.requests | nindent 2 }}
  ephemeral-storage: {{ $disk }}
limits:
  {{- toYaml .resources.limits | nindent 2 }}
  ephemeral-storage: {{ $disk }}
{{- end }}

{{- define "vitrine.config" }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ include "vitrine.name" .root }}-{{ .component }}
  labels:
    {{- include "vitrine.labels" . | nindent 4 }}
data:
  config.yaml: |
    {{- toYaml .values.config | nindent 4 }}
{{- end }}

{{/* The maximum number of pods. Takes a block of values. */}}
{{- define "vitrine.maxReplicas" -}}
{{- if dig "autoscaling" "enabled" false . }}{{ .autoscaling.maxReplicas }}
{{- else if dig "keda" "enabled" false . }}{{ .keda.maxReplicas }}
{{- else }}{{ .replicas }}
{{- end }}
{{- end }}

{{- define "vitrine.disruptionBudget" -}}
{{- if gt (int (include "vitrine.maxReplicas" .values)) 1 }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "vitrine.name" .root }}-{{ .component }}
  labels:
    {{- include "vitrine.labels" . | nindent 4 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      {{- include "vitrine.selector" . | nindent 6 }}
{{- end }}
{{- end }}

{{- define "vitrine.horizontalAutoscaler" -}}
{{- if dig "autoscaling" "enabled" false .values }}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ include "vitrine.name" .root }}-{{ .component }}
  labels:
    {{- include "vitrine.labels" . | nindent 4 }}
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: {{ include "vitrine.name" .root }}-{{ .component }}
  minReplicas: {{ .values.autoscaling.minReplicas }}
  maxReplicas: {{ .values.autoscaling.maxReplicas }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target:
          type: Utilization
          averageUtilization: {{ .values.autoscaling.cpuPercent }}
{{- end }}
{{- end }}

{{/* A separate Service, so that a gateway's public Service never has this port. */}}
{{- define "vitrine.metrics" -}}
{{- if .root.Values.metrics.enabled }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ include "vitrine.name" .root }}-{{ .component }}-metrics
  labels:
    {{- include "vitrine.labels" . | nindent 4 }}
    vitrine.dev/metrics: 'true'
spec:
  clusterIP: None
  ports:
    - { name: metrics, port: {{ .metricsPort }}, targetPort: {{ .metricsPort }} }
  selector:
    {{- include "vitrine.selector" . | nindent 4 }}
{{- end }}
{{- end }}

{{- define "vitrine.serviceMonitor" -}}
{{- $monitor := .root.Values.metrics.serviceMonitor -}}
{{- if and .root.Values.metrics.enabled $monitor.enabled (.root.Capabilities.APIVersions.Has "monitoring.coreos.com/v1") }}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: {{ include "vitrine.name" .root }}-{{ .component }}
  labels:
    {{- include "vitrine.labels" . | nindent 4 }}
    {{- with $monitor.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  # The alerts and dashboards of deploy/observability identify a service by its component.
  jobLabel: app.kubernetes.io/component
  selector:
    matchLabels:
      {{- include "vitrine.selector" . | nindent 6 }}
      vitrine.dev/metrics: 'true'
  endpoints:
    - port: metrics
      interval: {{ $monitor.interval }}
{{- end }}
{{- end }}

{{- define "vitrine.metricsIngress" -}}
{{- if .root.Values.metrics.enabled }}
- ports:
    - { port: {{ .metricsPort }}, protocol: TCP }
  {{- with .root.Values.metrics.from }}
  from:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end }}
