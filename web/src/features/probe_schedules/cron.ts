/** Whether a text looks like a time of a schedule. What the fields say the server checks. */
export function looksLikeCron(text: string): boolean {
  const trimmed = text.trim()
  if (/^@(hourly|daily|weekly)$/.test(trimmed)) return true
  const every = /^@every (\d+)$/.exec(trimmed)
  if (every) return Number(every[1]) >= 10 && Number(every[1]) <= 31_622_400
  return trimmed.split(/\s+/).length === 5 && /^[\d*/,\-a-zA-Z\s]+$/.test(trimmed)
}
