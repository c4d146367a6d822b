import { Button } from '@mantine/core'
import { useText } from '../i18n/language'
import { type CsvValue, saveFile, toCsv } from './csv'

/** Saves the rows that are shown. Times in it are RFC 3339 in UTC, figures in the units of REST. */
export function CsvButton({ name, header, rows }: { name: string; header: readonly string[]; rows: () => readonly (readonly CsvValue[])[] }) {
  const t = useText()
  return <Button title={t('ui.csv.hint')} onClick={() => saveFile(`${name}.csv`, toCsv(header, rows()))}>{t('ui.csv')}</Button>
}
