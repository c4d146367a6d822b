export type CsvValue = string | number | boolean | null | undefined

/** One field by RFC 4180. What a spreadsheet would take for a formula is kept from being one. */
function field(value: CsvValue): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) && Number.isNaN(Number(value)) ? `'${value}` : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

export function toCsv(header: readonly string[], rows: readonly (readonly CsvValue[])[]): string {
  return [header, ...rows].map((row) => row.map(field).join(',')).join('\r\n') + '\r\n'
}

/** Hands a file to the browser to be saved. */
export function saveFile(name: string, text: string, type = 'text/csv'): void {
  // The mark in front has spreadsheets read UTF-8 as such.
  const url = URL.createObjectURL(new Blob([type === 'text/csv' ? '\ufeff' : '', text], { type: `${type};charset=utf-8` }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
