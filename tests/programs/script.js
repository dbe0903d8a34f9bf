// What node does most: exceptions, regular expressions, calls from JavaScript to C++ and back,
// promises, a worker thread, and functions that are optimised, and given up again, while they run.
'use strict';
const { Worker, isMainThread, parentPort } = require('worker_threads');
const crypto = require('crypto');

function digest(text) {
    return crypto.createHash('md5').update(text).digest('hex');
}

function fails(n) {
    if (n % 3 === 0)
        throw new Error('thrown at ' + n);
    return n;
}

function rounds(count) {
    let sum = 0, caught = 0;
    for (let i = 0; i < count; i++) {
        try {
            sum += fails(i);
        } catch (error) {
            caught += error.stack.split('\n').length;
        }
        sum += parseInt(digest('text ' + i).slice(0, 4), 16);
        sum += /a(b+)c/.exec('xxabbbc' + i)[1].length;
    }
    return sum + ' ' + caught;
}

function Point(x) {
    this.x = x;
}

// Optimised code of which a frame is on the stack when it turns out to be wrong.
function changing(point, n) {
    if (n === 1777) {
        Point.prototype['added' + n] = n;
        eval('Point.prototype.x2 = 2');
    }
    return point.x;
}

function given_up(count) {
    let sum = 0;
    for (let i = 0; i < count; i++)
        sum += changing(new Point(i), i);
    return sum;
}

function sorted(count) {
    const numbers = Array.from({ length: count }, (_, i) => (i * 7919) % count);
    let thrown = 0;
    for (let i = 0; i < 10; i++) {
        try {
            numbers.slice().sort((a, b) => {
                if (i % 3 === 0 && a === 500)
                    throw new Error('while sorting');
                return a - b;
            });
        } catch (error) {
            thrown++;
        }
    }
    return thrown;
}

function too_deep(n) {
    return 1 + too_deep(n + 1);
}

async function promised(count) {
    let sum = 0;
    for (let i = 0; i < count; i++)
        sum += await i;
    try {
        await Promise.reject(new Error('rejected'));
    } catch (error) {
        return sum + ' ' + error.message;
    }
}

if (isMainThread) {
    console.log('rounds', rounds(8000));
    for (let i = 0; i < 20; i++)
        console.log('given up', given_up(2000 + i));
    console.log('sorted', sorted(1000));
    try {
        too_deep(0);
    } catch (error) {
        console.log(error instanceof RangeError, error.message);
    }
    const worker = new Worker(__filename);
    worker.on('message', (message) => {
        console.log('worker', message);
        promised(3000).then((sum) => console.log('promised', sum));
    });
} else {
    parentPort.postMessage(rounds(3000));
}
