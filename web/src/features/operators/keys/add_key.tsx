import { Button, FileButton, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useText } from '../../../i18n/language'
import { useAddSigningKey } from '../../../queries/signing_keys'
import { useFieldErrors } from '../../../ui/forms/field_errors'
import { FormDialog } from '../../../ui/forms/form_dialog'
import { useOrderKey } from '../../../ui/forms/order_key'
import { isPublicKey } from './public_key'

/** Trusts the key of somebody who signs operators. */
export function AddKey({ onClose }: { onClose: () => void }) {
  const t = useText()
  const add = useAddSigningKey()
  const keyOf = useOrderKey()
  const [name, setName] = useState('')
  const [center, setCenter] = useState('')
  const [pem, setPem] = useState('')
  const errors = useFieldErrors(add.error)
  const isWrong = pem.trim() !== '' && !isPublicKey(pem)
  return (
    <FormDialog title={t('keys.add.title')} action={t('keys.add.do')} error={add.error} busy={add.isPending} canSubmit={name.trim() !== '' && isPublicKey(pem)}
      onClose={onClose} onSubmit={() => {
        const order = { name: name.trim(), public_key_pem: `${pem.trim()}\n`, ...(center.trim() ? { center: center.trim() } : {}) }
        add.mutate({ order, key: keyOf(order) }, { onSuccess: onClose })
      }}>
      <TextInput label={t('keys.name')} description={t('keys.name.hint')} required data-autofocus autoComplete="off" maxLength={128} value={name} error={errors.name}
        onChange={(e) => setName(e.currentTarget.value)} />
      <TextInput label={t('keys.center')} description={t('keys.center.hint')} autoComplete="off" maxLength={64} value={center} error={errors.center}
        onChange={(e) => setCenter(e.currentTarget.value)} />
      <Textarea label={t('keys.pem')} description={t('keys.pem.hint')} required rows={4} spellCheck={false} maxLength={4096} value={pem}
        error={isWrong ? t('keys.pem.wrong') : errors.public_key_pem} styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        onChange={(e) => setPem(e.currentTarget.value)} />
      <div>
        <FileButton accept=".pub,.pem,application/x-pem-file" onChange={(file) => void file?.text().then(setPem)}>
          {(button) => <Button {...button}>{t('measure.json.file')}</Button>}
        </FileButton>
      </div>
    </FormDialog>
  )
}
