// What this browser remembers for its user. Storage may be switched off: then nothing is remembered, and nothing fails.
export function readStored(name: string): string | null {
  try {
    return localStorage.getItem(`fathom.${name}`)
  } catch {
    return null
  }
}

export function store(name: string, value: string): void {
  try {
    localStorage.setItem(`fathom.${name}`, value)
  } catch {
    // Nothing to be done about it.
  }
}
