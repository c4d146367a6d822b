/** Whether a text is one public key in PEM, as far as its form says: a private one must not leave its owner. The server checks what is in it. */
export function isPublicKey(text: string): boolean {
  return /^-----BEGIN PUBLIC KEY-----\r?\n[A-Za-z0-9+/=\r\n]+\r?\n-----END PUBLIC KEY-----$/.test(text.trim())
}
