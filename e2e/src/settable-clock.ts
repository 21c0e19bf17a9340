// Loaded into a gateway's process before anything else (node --import): its wall clock shows another time. CLOCK_SETTINGS_MS has the
// comma-separated offsets from the true time: the first from the start, the next with each SIGUSR2.
const settings = (process.env['CLOCK_SETTINGS_MS'] ?? '').split(',').map(Number);
const trueTime = Date.now.bind(Date);
let setting = settings.shift() ?? 0;

Date.now = () => trueTime() + setting;
process.on('SIGUSR2', () => {
  setting = settings.shift() ?? setting;
});
