{{- define "streamjob.name" -}}
{{- printf "%s" .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "streamjob.selector" -}}
app.kubernetes.io/name: streamjob-operator
app.kubernetes.io/instance: {{ .Release.Name }}
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
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
