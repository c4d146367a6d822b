import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useFilters } from '../../app/router/search'
import { useText } from '../../i18n/language'
import { exportFormats } from '../../queries/export_schedules'
import { CopyButton } from '../../ui/copy_button'
import styles from './billing.module.css'
import { exportAddress, type ExportChoice, exportName, isApel, isOfLedger } from './export_address'
import { PeriodSelect } from './period_select'

export const levels = ['si2k', 'hepspec', 'hepscore23'] as const

/** Charges or usage for other programs. The browser saves the stream: nothing is held in this page. */
export function Exports() {
  const t = useText()
  const [raw, change] = useFilters(['format', 'period', 'from', 'until', 'project', 'center', 'version', 'level', 'last_entry'])
  const choice: ExportChoice = { ...raw, format: exportFormats.find((f) => f === raw.format) ?? 'focus', version: raw.version === '1.3' ? '1.3' : '1.2' }
  const isWrong = choice.last_entry !== '' && !/^[1-9]\d*$/.test(choice.last_entry)
  const address = exportAddress(choice)
  return (
    <>
      <p className="dim">{t('billing.export.hint')}</p>
      <div className={styles.form}>
        <NativeSelect label={t('billing.export.format')} value={choice.format} onChange={(e) => change({ format: e.currentTarget.value === 'focus' ? '' : e.currentTarget.value })}
          data={exportFormats.map((value) => ({ value, label: t(`billing.export.${value}`) }))} />
        <PeriodSelect value={choice.period} none={t('billing.export.period.any')} onChange={(period) => change({ period })} />
        <div className={styles.two}>
          <TextInput type="date" label={t('billing.from')} value={choice.from} onChange={(e) => change({ from: e.currentTarget.value })} />
          <TextInput type="date" label={t('billing.until')} value={choice.until} onChange={(e) => change({ until: e.currentTarget.value })} />
          <TextInput label={t('billing.project')} value={choice.project} onChange={(e) => change({ project: e.currentTarget.value.trim() })} />
          <TextInput label={t('billing.center')} value={choice.center} onChange={(e) => change({ center: e.currentTarget.value.trim() })} />
          {choice.format === 'focus' ? (
            <NativeSelect label={t('billing.export.version')} value={choice.version} data={['1.2', '1.3']} onChange={(e) => change({ version: e.currentTarget.value === '1.2' ? '' : '1.3' })} />
          ) : null}
          {isApel(choice.format) ? (
            <NativeSelect label={t('billing.export.level')} value={choice.level} onChange={(e) => change({ level: e.currentTarget.value })}
              data={[{ value: '', label: t('billing.export.level.none') }, ...levels.map((level) => ({ value: level, label: level }))]} />
          ) : null}
          {isOfLedger(choice.format) ? (
            <TextInput label={t('billing.export.last')} description={t('billing.export.last.hint')} inputMode="numeric" value={choice.last_entry}
              error={isWrong ? t('billing.export.last.wrong') : undefined} onChange={(e) => change({ last_entry: e.currentTarget.value.trim() })} />
          ) : null}
        </div>
      </div>
      <div className={styles.links}>
        {isWrong ? null : <Button component="a" variant="filled" href={address} download={exportName(choice)}>{t('billing.export.do')}</Button>}
        <span className="dim">{t('billing.export.address')}: <code>GET {address}</code></span>
        <CopyButton value={window.location.origin + address} />
      </div>
    </>
  )
}
