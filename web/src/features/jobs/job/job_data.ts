import type { Job } from '../../../queries/jobs'

export interface JobFile {
  path: string
  url: string
  sizeBytes: number | null
  sha256: string
}

export interface JobOutputFile extends JobFile {
  isStored: boolean
}

/** Without what may be a signature. */
export function shownUrl(url: string): string {
  return url.replace(/[?#].*$/, '')
}

/** Where an output's content is had from the copy that its center keeps; large ones are refused there, with where they lie. */
export function outputAddress(jobId: string, path: string): string {
  return `/api/v1/jobs/${encodeURIComponent(jobId)}/output?path=${encodeURIComponent(path)}`
}

/** A job's inputs, with what was declared of them, outputs of earlier jobs by their names, and its outputs, with what was stored of them. */
export function dataOf(job: Pick<Job, 'spec' | 'attempt'>): { inputs: JobFile[], outputs: JobOutputFile[] } {
  const stored = new Map((job.attempt?.outputs ?? []).map((output) => [output.path, output]))
  return {
    inputs: (job.spec.inputs ?? []).map((input) => ({
      path: input.path, url: input.from ?? shownUrl(input.url ?? ''), sizeBytes: input.size_bytes ?? null, sha256: input.sha256 ?? '',
    })),
    outputs: (job.spec.outputs ?? []).map((output) => ({
      path: output.path, url: shownUrl(output.url), isStored: stored.has(output.path),
      sizeBytes: stored.get(output.path)?.size_bytes ?? null, sha256: stored.get(output.path)?.sha256 ?? '',
    })),
  }
}
