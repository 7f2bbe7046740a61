// Who takes part. Everybody is somebody else in each scene, because phones ring so many times only.

let count = 0;

// kennitala makes a number of somebody born in January 1980, with a check digit that is right.
function kennitala(n) {
  const weights = [3, 2, 7, 6, 5, 4, 3, 2];
  const day = String(1 + (n % 28)).padStart(2, '0');
  const month = String(1 + (Math.floor(n / 28) % 12)).padStart(2, '0');
  for (let serial = 20 + Math.floor(n / 336); ; serial++) {
    const digits = `${day}${month}80${serial}`;
    const sum = weights.reduce((total, weight, i) => total + weight * Number(digits[i]), 0);
    const check = (11 - (sum % 11)) % 11;
    if (check < 10) return `${digits}${check}9`;
  }
}

// somebody is a person with a mail address, an electronic ID and a phone.
export function somebody(name = 'Anna Jónsdóttir') {
  const n = count++;
  return { name, email: `person${n}@example.is`, kennitala: kennitala(n), phone: String(7712600 + n) };
}

// phoneThat makes the number of a phone whose owner answers with a status: package idp/simulated.
export function phoneThat(status) {
  return `${7770 + (count++ % 200)}${status}`;
}

// local is a kennitala as it is written in Iceland.
export const local = (k) => `${k.slice(0, 6)}-${k.slice(6)}`;
