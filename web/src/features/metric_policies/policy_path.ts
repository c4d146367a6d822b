import { pathTo } from '../../app/router/match'

/** Where a policy is shown that is told by its name, id@version; of several @ the last one counts. */
export function pathOfPolicy(name: string): string {
  const at = name.lastIndexOf('@')
  const [id, version] = at > 0 ? [name.slice(0, at), name.slice(at + 1)] : [name, '']
  return pathTo('/metric-policies/:id', { id }) + (version ? `?version=${encodeURIComponent(version)}` : '')
}
