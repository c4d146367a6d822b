import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../api/client'
import { usePages } from '../api/pages'
import type { components } from '../api/schema'

export type SpeedupQuestion = components['schemas']['SpeedupQuestion']
export type SpeedupAnswer = components['schemas']['SpeedupAnswer']
export type SpeedupCurve = components['schemas']['SpeedupCurve']
export type DeviceAccuracy = components['schemas']['DeviceAccuracy']

const predict = (question: SpeedupQuestion) => ({
  queryKey: ['speedup', 'predict', question],
  queryFn: ({ signal }: { signal: AbortSignal }) => unwrap(api.POST('/api/v1/speedup:predict', { body: question, signal })),
  retry: false,
})

export function useSpeedup(question: SpeedupQuestion | null) {
  return useQuery({
    ...predict(question ?? { class: 'linear', input_gb: 1, machines: 1 }),
    enabled: question !== null,
    placeholderData: keepPreviousData,
  })
}

export function useSpeedups(questions: readonly SpeedupQuestion[]) {
  return useQueries({ queries: questions.map((question) => ({ ...predict(question), staleTime: Infinity })) })
}

export function useSpeedupCurves(questions: readonly SpeedupQuestion[]) {
  return useQueries({
    queries: questions.map((question) => ({
      queryKey: ['speedup', 'curve', question],
      queryFn: ({ signal }: { signal: AbortSignal }) => unwrap(api.POST('/api/v1/speedup:curve', { body: question, signal })),
      retry: false,
      staleTime: 60_000,
    })),
  })
}

/** How jobs on CPUs and on GPUs went against their raw predictions. */
export function useSpeedupAccuracy(center: string) {
  return usePages({
    key: ['speedup', 'accuracy', center],
    read: (page_token, signal) => unwrap(api.GET('/api/v1/speedup-accuracy', {
      signal, params: { query: { page_size: 50, ...(center ? { center } : {}), ...(page_token ? { page_token } : {}) } } })),
  })
}
