{{- /* Names are quoted wherever they stand alone: one of digits is a number for YAML, and the API server takes none. */ -}}
{{- define "streamjob.name" -}}
{{- printf "%s" .Release.Name | trunc 50 | trimAll "-." -}}
{{- end -}}

{{- define "streamjob.selector" -}}
app.kubernetes.io/name: streamjob-operator
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "streamjob.labels" -}}
{{ include "streamjob.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "streamjob.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{ default (include "streamjob.name" .) .Values.serviceAccount.name }}
{{- else -}}
{{ required "serviceAccount.name: a name is needed when serviceAccount.create is false" .Values.serviceAccount.name }}
{{- end -}}
{{- end -}}

{{- define "streamjob.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}

{{- /* One Lease for each scope, whichever release looks after it: two releases of one scope must not both act. */ -}}
{{- define "streamjob.leaseNamespace" -}}
{{- if .Values.lease.namespace -}}
{{ .Values.lease.namespace }}
{{- else if .Values.watch.namespaces -}}
{{ first (sortAlpha .Values.watch.namespaces) }}
{{- else -}}
kube-system
{{- end -}}
{{- end -}}

{{- define "streamjob.scope" -}}
- --lease-name={{ .Values.lease.name }}
- --lease-namespace={{ include "streamjob.leaseNamespace" . }}
{{- range .Values.watch.namespaces }}
- --namespace={{ . }}
{{- end }}
{{- end -}}

{{- /* What lets a pod have its image and a node: of the operator, and of `helm test`. */ -}}
{{- define "streamjob.place" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{- range . }}
  - name: {{ . | quote }}
{{- end }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
