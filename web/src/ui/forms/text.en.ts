export const formsEn = {
  'form.save': 'Save',
  'form.actions': 'Actions',
  'form.once': 'This is shown once only. Copy it now; the server keeps nothing from which it could be shown again.',
  'form.once.done': 'I have copied it',
  'form.moment.utc': 'in UTC',
  'form.moment.local': 'in local time',
}
