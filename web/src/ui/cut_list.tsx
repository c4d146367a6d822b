import { type Translate, useLanguage } from '../i18n/language'
import { formatNumber } from './format'
import { BusyMark } from './states'
import styles from './states.module.css'

/** A list that was read as a whole, or as far as it is read. */
interface MaybeCut {
  readonly data: readonly unknown[] | undefined
  readonly isCut: boolean
}

/** Says that a list is longer than what was read of it; `name` is what the page calls it. */
export function CutMark({ list, name }: { list: MaybeCut; name: string }) {
  const { t, locale } = useLanguage()
  if (!list.isCut) return null
  return <p role="status" className={styles.cut}>{t('ui.cut', { name, n: formatNumber(list.data?.length, locale) })}</p>
}

/** Says that what is shown is a part of a list that is being read. */
export function PartMark({ list }: { list: { readonly data: readonly unknown[] | undefined; readonly isPart: boolean } }) {
  const { t, locale } = useLanguage()
  if (!list.isPart) return null
  return <BusyMark>{t('ui.part', { n: formatNumber(list.data?.length, locale) })}</BusyMark>
}

/** That a list is longer, at the end of what a field offers to choose from: an entry that cannot be chosen; none where the list is whole. */
export function cutOption(t: Translate, list: MaybeCut): { value: string; label: string; disabled: true }[] {
  return list.isCut ? [{ value: '…', label: t('ui.cut.option', { n: list.data?.length ?? 0 }), disabled: true }] : []
}
