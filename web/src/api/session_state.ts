// What every request needs to know of the session, outside React. The session itself is a cookie that no script reads.
let token = ''
let onExpiry: (() => void) | null = null

export function csrfToken(): string {
  return token
}

export function setCsrfToken(value: string): void {
  token = value
}

/** Called when an answer says that nobody is signed in. */
export function setExpiryListener(listener: (() => void) | null): void {
  onExpiry = listener
}

export function reportExpiry(): void {
  onExpiry?.()
}
