/** Names in one line at most; more are counted. As `fathom job show` does. */
const mostNames = 8

/** With whom a job shares a GPU. */
export interface GpuNeighbours {
  /** Jobs that the reader may know of, each once. */
  readonly jobs: readonly string[]
  /** How many there are besides: programs of jobs that are not named, or such jobs. */
  readonly otherCount: number
}

/** Of a job that has ended, as the server keeps it. */
export function keptNeighboursOf(gpu: { readonly neighbours: readonly string[]; readonly other_count: number }): GpuNeighbours {
  const jobs = gpu.neighbours.slice(0, mostNames)
  return { jobs, otherCount: gpu.other_count + gpu.neighbours.length - jobs.length }
}

/** `job_count` are all programs on the GPU; `jobs` are those that are told of: one for each program. */
export function neighboursOf(gpu: { readonly job_count: number; readonly jobs: readonly { readonly job: string }[] }, job: string): GpuNeighbours {
  const told = gpu.jobs.map((program) => program.job)
  const jobs = [...new Set(told)].filter((name) => name !== '' && name !== job).slice(0, mostNames)
  const known = told.filter((name) => name === job || jobs.includes(name)).length
  return { jobs, otherCount: Math.max(0, gpu.job_count - known) }
}
