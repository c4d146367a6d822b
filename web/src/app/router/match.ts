export type PathParams = Record<string, string>

/** The parameters of a path that fits a pattern such as /jobs/:id; null where it does not. */
export function matchPath(pattern: string, path: string): PathParams | null {
  const wanted = split(pattern)
  const given = split(path)
  if (wanted.length !== given.length) return null
  const params: PathParams = {}
  for (const [i, part] of wanted.entries()) {
    const value = given[i] ?? ''
    if (part.startsWith(':')) {
      try {
        params[part.slice(1)] = decodeURIComponent(value)
      } catch {
        return null
      }
    } else if (part !== value) return null
  }
  return params
}

function split(path: string): string[] {
  return path.split('/').filter((part) => part !== '')
}

/** A path with its parameters put in. */
export function pathTo(pattern: string, params: PathParams): string {
  return pattern.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
}

