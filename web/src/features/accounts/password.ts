// Without letters and digits that are taken for each other: O 0, I l 1.
const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789'

type Fill = (bytes: Uint8Array<ArrayBuffer>) => unknown

/**
 * A password of random groups, such as k7Rm2-…: 20 characters of 57, which is 116 bits. Bytes beyond the largest multiple of
 * 57 are thrown away, so that each character is as likely as every other.
 */
export function generatePassword(fill: Fill = (bytes) => crypto.getRandomValues(bytes), groups = 4, size = 5): string {
  const limit = 256 - (256 % alphabet.length)
  let chosen = ''
  while (chosen.length < groups * size) {
    const bytes = new Uint8Array(32)
    fill(bytes)
    for (const byte of bytes) {
      if (byte < limit && chosen.length < groups * size) chosen += alphabet[byte % alphabet.length]
    }
  }
  return Array.from({ length: groups }, (_, i) => chosen.slice(i * size, (i + 1) * size)).join('-')
}

/** What the server refuses in a password, as far as can be told here. */
export function isGoodPassword(password: string, name: string): boolean {
  return password.length >= 12 && password.length <= 256 && (name === '' || !password.toLowerCase().includes(name.toLowerCase()))
}
