/* libstdc++'s own code: strings, streams, trees, exceptions, casts, paths. */
#include <charconv>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <list>
#include <locale>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>

struct base {
    virtual ~base() = default;
};
struct derived : base {
};
struct other : base {
};

static size_t thrown(int i)
{
    try {
        if (i % 3 == 0)
            throw std::runtime_error("three " + std::to_string(i));
        if (i % 3 == 1)
            return std::stoi("x");
        return std::string("abc").at(i + 3);
    } catch (const std::logic_error &error) {
        return std::string(error.what()).size();
    } catch (const std::exception &error) {
        return 100 + std::string(error.what()).size();
    }
}

int main()
{
    std::map<std::string, int> sorted;
    std::unordered_map<std::string, double> hashed;
    std::list<int> list;
    std::ostringstream out;
    std::wostringstream wide;
    std::string line, word;
    derived one;
    other two;
    base *objects[] = {&one, &two};
    size_t sum = 0;

    for (int i = 0; i < 2000; i++) {
        sorted["key" + std::to_string(i * 7919 % 1009)] += i;
        hashed[std::to_string(i % 300)] += i / 3.0;
        list.push_front(i * 13 % 400);
    }
    list.sort();
    for (int i = 0; i < 500; i++)
        out << std::setw(8) << i << ' ' << std::fixed << std::setprecision(3) << i / 7.0 << " w\n";
    std::istringstream in(out.str());
    while (std::getline(in, line)) {
        std::istringstream fields(line);
        int whole;
        double part;
        fields >> whole >> part >> word;
        sum += whole + (size_t)part + word.size();
    }
    for (int i = 0; i < 60; i++) {
        sum += thrown(i) + (dynamic_cast<derived *>(objects[i % 2]) != nullptr);
        try {
            dynamic_cast<derived &>(*objects[i % 2]);
        } catch (const std::bad_cast &) {
            sum++;
        }
    }
    wide << 1.5 << L" " << 77 << std::put_money(123.0);
    char digits[40];
    auto end = std::to_chars(digits, digits + sizeof(digits), 3.14159265358979).ptr;
    std::cout << sum << ' ' << sorted.size() << ' ' << hashed.size() << ' ' << list.front() << ' '
              << wide.str().size() << ' ' << std::string(digits, end) << ' '
              << std::filesystem::path("/a/b/../c.txt").lexically_normal() << std::endl;
}
