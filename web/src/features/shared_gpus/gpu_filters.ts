import type { SharedGpu } from '../../queries/shared_gpus'

/** All GPUs that memory managers tell of; those that several programs are on; those that some program did not fit on. */
export const views = ['', 'shared', 'refused'] as const
export type View = (typeof views)[number]

export const filterNames = ['center', 'view'] as const

export function parseView(raw: string): View {
  return views.find((view) => view === raw) ?? ''
}

type Told = Pick<SharedGpu, 'is_shared' | 'refused_count'>

export function filterGpus<Gpu extends Told>(gpus: readonly Gpu[], view: View): Gpu[] {
  return gpus.filter((gpu) => (view === 'shared' ? gpu.is_shared : view === 'refused' ? gpu.refused_count > 0 : true))
}

/** How much of the memory for jobs is taken, 0 to 1: by what stays and, once, by what each has in its turn. */
export function takenShare(gpu: Pick<SharedGpu, 'capacity_bytes' | 'persistent_bytes' | 'temporary_bytes'>): number {
  return gpu.capacity_bytes > 0 ? (gpu.persistent_bytes + gpu.temporary_bytes) / gpu.capacity_bytes : 0
}
