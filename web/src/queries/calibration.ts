import { useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../api/client'
import { type Page, usePages, useWholeList } from '../api/pages'
import type { components } from '../api/schema'
import { type Prediction, predictionKeys } from './predictions'

export type NetworkCalibration = components['schemas']['NetworkCalibration']
export type Calibration = components['schemas']['Calibration']
export type Accuracy = components['schemas']['Accuracy']
export type DeviceAccuracy = components['schemas']['DeviceAccuracy']
export type OperatorAccuracy = components['schemas']['OperatorAccuracy']

export interface PredictionFilters {
  unit_type: string
  job_type: string
}

export const calibrationKeys = {
  all: [...predictionKeys.all, 'calibration'] as const,
  ended: (filters: PredictionFilters) => [...predictionKeys.all, 'ended', filters] as const,
  devices: ['speedup-accuracy'] as const,
  operators: [...predictionKeys.all, 'operators'] as const,
}

export function useCalibration() {
  return useQuery({ queryKey: calibrationKeys.all, queryFn: ({ signal }) => unwrap(api.GET('/api/v1/predictions:calibration', { signal })) })
}

/** What profiled runs took for their operators, against what was predicted, by unit type. */
export function useOperatorAccuracy() {
  return useQuery({ queryKey: calibrationKeys.operators, queryFn: ({ signal }) => unwrap(api.GET('/api/v1/predictions:operators', { signal })) })
}

/** Predictions of attempts that have ended, newest first. */
export function useEndedPredictions(filters: PredictionFilters, enabled = true) {
  return usePages<Prediction>({
    key: calibrationKeys.ended(filters),
    enabled,
    read: (page_token, signal): Promise<Page<Prediction>> => unwrap(api.GET('/api/v1/predictions', {
      signal, params: { query: { ended: 'true', page_size: 200, unit_type: filters.unit_type || undefined, job_type: filters.job_type || undefined, page_token } },
    })),
  })
}

export function useDeviceAccuracy() {
  return useWholeList({
    key: calibrationKeys.devices,
    read: (page_token, signal) => unwrap(api.GET('/api/v1/speedup-accuracy', { signal, params: { query: { page_size: 1000, page_token } } })),
  })
}
