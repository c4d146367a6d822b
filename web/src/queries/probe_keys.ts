/** Everything about probes that changes when one of their jobs does. */
export const probeKeys = {
  all: ['probes'] as const,
  runs: ['probes', 'runs'] as const,
  run: (id: string) => ['probes', 'run', id] as const,
  order: (id: string) => ['probes', 'order', id] as const,
  tasks: ['probes', 'tasks'] as const,
  task: (id: string) => ['probes', 'task', id] as const,
  comparison: (id: string) => ['probes', 'comparison', id] as const,
  schedules: ['probes', 'schedules'] as const,
}
